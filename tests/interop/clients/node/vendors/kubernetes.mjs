import { CoreV1Api, KubeConfig, Watch } from "@kubernetes/client-node";
import { run } from "../lib/harness.mjs";

const kube = new KubeConfig();
kube.loadFromClusterAndUser({ name: "c", server: "https://vendor.test" }, { name: "me", token: "t" });
const pods = kube.makeApiClient(CoreV1Api);

await run({
  list: async () => (await pods.listNamespacedPod({ namespace: "default" })).kind,
  watch: () =>
    new Promise((resolve, reject) => {
      const kinds = [];
      const add = (type) => kinds.push(type);
      new Watch(kube)
        .watch("/api/v1/watch", {}, add, (error) =>
          error?.name === "AbortError" || !error ? resolve(kinds) : reject(error),
        )
        .catch(reject);
    }),
});
