import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { Storage } from "@google-cloud/storage";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { run } from "../lib/harness.mjs";

const credentials = { accessKeyId: "key", secretAccessKey: "secret" };
const aws = { region: "eu-west-1", credentials, maxAttempts: 1 };
const dynamo = new DynamoDBClient(aws);
const queues = new SQSClient(aws);
// Its own handler speaks HTTP/2, which the agent does not see.
const requestHandler = new NodeHttpHandler();
const bedrock = new BedrockRuntimeClient({ ...aws, endpoint: "https://vendor.test", requestHandler });
const token = { getRequestHeaders: async () => new Headers({ authorization: "Bearer t" }) };
const storage = new Storage({
  apiEndpoint: "https://vendor.test",
  projectId: "shop",
  token,
  useAuthWithCustomEndpoint: false,
  retryOptions: { autoRetry: false },
});
const bucket = storage.bucket("items");

await run({
  dynamodb: async () => (await dynamo.send(new GetItemCommand({ TableName: "items", Key: { id: { S: "1" } } }))).Item,
  sqs: async () =>
    (
      await queues.send(
        new SendMessageCommand({ QueueUrl: "https://sqs.eu-west-1.amazonaws.com/1/q", MessageBody: "hi" }),
      )
    ).MessageId,
  bedrock: async () =>
    (
      await bedrock.send(
        new ConverseCommand({ modelId: "any", messages: [{ role: "user", content: [{ text: "hi" }] }] }),
      )
    ).output.message.content,
  "storage: list": async () => (await bucket.getFiles()).length,
  "storage: download": async () => (await bucket.file("a.txt").download({ validation: false }))[0],
  "storage: upload": () => bucket.file("a.txt").save("contents", { resumable: false, validation: false }),
});
