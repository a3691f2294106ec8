import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stop } from "./proxy.mjs";

const DEADLINE_MS = 60000;
const RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/** A cluster of librdkafka, which other clients may use, too. */
const KAFKA = `
from confluent_kafka import Producer
import time
producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored"})
(broker,) = producer.list_topics(timeout=30).brokers.values()
for topic in ("jobs", "singles", "batches"):
    producer.list_topics(topic, timeout=30)
print(f"{broker.host}:{broker.port}", flush=True)
while True:
    time.sleep(60)
`;

/** The Python that has `moto` and `confluent-kafka`. */
const python = () => process.env.TRAFFICMOCK_BENCH_PYTHON ?? "python3";

/**
 * @param {string} program
 * @returns {boolean} whether it is installed
 */
export function isInstalled(program) {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** @returns {Promise<{ port: number, stop(): Promise<void> }>} */
export async function startRedis() {
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  return ready(spawn("redis-server", options, { cwd: newFolder(), stdio: "ignore" }), port);
}

/** @returns {Promise<{ port: number, stop(): Promise<void> }>} */
export async function startRabbitmq() {
  const [port, distribution] = [await freePort(), await freePort()];
  const folder = newFolder();
  const env = {
    ...process.env,
    HOME: folder,
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_NODENAME: `trafficmock-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "plugins"),
    RABBITMQ_CONF_ENV_FILE: join(folder, "none.conf"),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
  };
  return ready(spawn(RABBITMQ, [], { env, stdio: "ignore" }), port);
}

/** Whether RabbitMQ can be started. */
export const hasRabbitmq = () => existsSync(RABBITMQ);

/** @returns {Promise<{ port: number, stop(): Promise<void> }>} a server that speaks the APIs of SQS and SNS */
export async function startAws() {
  const port = await freePort();
  return ready(
    spawn(python(), ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" }),
    port,
  );
}

/** @returns {Promise<{ broker: string, stop(): Promise<void> }>} */
export async function startKafka() {
  const child = spawn(python(), ["-c", KAFKA], { stdio: ["ignore", "pipe", "inherit"] });
  const broker = await new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data).trim()));
    child.once("exit", (status) => reject(new Error(`the cluster ended: ${status}`)));
  });
  return { broker, stop: () => stop(child, "SIGKILL") };
}

const newFolder = () => mkdtempSync(join(tmpdir(), "trafficmock-broker-"));

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} port that it is to listen on
 */
async function ready(child, port) {
  for (const end = Date.now() + DEADLINE_MS; !(await isOpen(port));) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`${child.spawnfile} did not start`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { port, stop: () => stop(child) };
}

/** @param {number} port */
const isOpen = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => resolve(socket.destroy() !== undefined));
    socket.on("error", () => resolve(false));
  });
