"use strict";

/* What BullMQ runs in a process of its own. */
module.exports = async (job) => {
  const { kind, who } = job.data;
  const said = await fetch(`http://nowhere.test/${kind}?who=${who}`).then(
    (response) => response.text(),
    (error) => String(error.cause?.code ?? error),
  );
  await job.updateProgress({ kind, who, said });
};
