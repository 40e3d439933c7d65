import type { Command } from "commander";
import { InvalidArgumentError, Option, Help } from "commander";
import type { AnsweringApi } from "../client/index.ts";
import { NAME_EXPECTED, openApi } from "../client/index.ts";
import { isKeptName } from "../client/requests.ts";
import type { Seconds } from "../domain/units.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** Options that many commands share. The library reads the environment variables that are named here. */
export const url = () =>
  new Option("--url <address>", "address of the function app").env("AUTOSCALER_URL").argParser(readAddress);
export const key = () =>
  new Option(
    "--key <key>",
    "function key; better in the environment, because other users of a machine can see command lines",
  ).env("AUTOSCALER_KEY");
export const cluster = () =>
  new Option("-c, --cluster <name>", "the cluster").env("AUTOSCALER_CLUSTER").argParser(readName);
const queue = () =>
  new Option(
    "--queue <account>",
    "send by the storage queue: https://NAME.queue.core.windows.net to send as the signed-in identity, a signed address (SAS) of the queue, or a connection string",
  ).env("AUTOSCALER_QUEUE");

export const requestSet = () => new Option("-s, --request-set <name>", "the request set").argParser(readName);

/** For commands about one cluster. */
export function withApi(command: Command): Command {
  return command
    .addOption(url().makeOptionMandatory())
    .addOption(key().makeOptionMandatory())
    .option("--json", "the app's answer as JSON");
}

export function withCluster(command: Command): Command {
  return withApi(command.addOption(cluster().makeOptionMandatory()));
}

/** For commands that can cover all clusters. */
export function withAnyCluster(command: Command): Command {
  return withApi(command.addOption(cluster()));
}

/** For commands that send demand, by HTTP or by the queue. */
export function withDoors(command: Command): Command {
  return command
    .addOption(cluster())
    .addOption(requestSet().default("standard"))
    .addOption(
      new Option(
        "--expiration-interval <seconds>",
        "time for which the demand is valid without a renewal",
      ).argParser(readPositive),
    )
    .addOption(
      new Option("--max <n>", "send no target of more nodes or cores than this: it is a typing mistake")
        .env("AUTOSCALER_MAX")
        .argParser(readCount),
    )
    .addOption(url())
    .addOption(key())
    .addOption(queue())
    .option("--wait", "wait until all of the demand is ready, or until some of it cannot be placed")
    .addOption(
      new Option("--timeout <seconds>", "with --wait: at most this long")
        .argParser(readPositive)
        .default(WAIT_SECONDS),
    )
    .option("--json", "the app's answer as JSON");
}

/** Long enough for a slow boot. */
const WAIT_SECONDS: Seconds = 3600;

export interface ApiOptions {
  readonly url: string;
  readonly key: string;
  readonly json?: true;
}

export interface ClusterOptions extends ApiOptions {
  readonly cluster: string;
}

export interface DoorOptions {
  readonly cluster?: string;
  readonly requestSet: string;
  readonly expirationInterval?: number;
  readonly url?: string;
  readonly key?: string;
  readonly queue?: string;
  readonly max?: number;
  readonly wait?: true;
  readonly timeout: number;
  readonly json?: true;
}

/** The app. A command shows each answer, including refusals. */
export function appOf({ url, key }: ApiOptions): AnsweringApi {
  return openApi({ url, key }, { throws: false });
}

export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (isHttp && url.username === "" && url.password === "") return text;
  throw new InvalidArgumentError("Expected an http or https address, without a user and a password.");
}

/** The name of a cluster or of a request set, also one that was stored before names had to be plain. */
export function readName(text: string): string {
  if (isKeptName(text)) return text;
  throw new InvalidArgumentError(`Expected ${NAME_EXPECTED}.`);
}

/** A whole number of at least 0. */
export function readCount(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("Expected a whole number of at least 0.");
}

export function readPositive(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("Expected a number of seconds above 0.");
}

/** A time as the app reads it. */
export function readTime(text: string): string {
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw new InvalidArgumentError("Expected a time, as 2026-01-31T12:00:00Z.");
}

/** The arguments with which each file of commands registers them. */
export interface Register {
  readonly program: Command;
  readonly terminal: Terminal;
  /** Runs a command. Its result is the exit code of the process. */
  readonly run: (work: () => Promise<ExitCode>) => Promise<void>;
}

const COLUMNS = 80;

/** A paragraph below the options of a command's help text: details that do not fit into the line in the list of commands. */
export function wrapped(text: string): string {
  return `\n${new Help().boxWrap(text, COLUMNS)}`;
}
