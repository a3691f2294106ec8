const answer = await fetch(process.argv[2]);
console.log(await answer.text());
