import type { Problem, RejectedJob } from "../domain/demand.ts";
import { clusterName, setName } from "../domain/ids.ts";
import { noteNoAmounts } from "../domain/no-amount.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../domain/policy.ts";
import { instant } from "../domain/units.ts";
import { readRequestSet } from "../wire/message/demand-message.ts";
import type { DemandMessage, UncheckedMessage } from "../wire/message/message.ts";
import { isName, NAME_EXPECTED } from "../domain/name.ts";
import { hideSecrets } from "../domain/secrets.ts";
import { problemShowing } from "../wire/json/problem.ts";
import type { Acknowledgement } from "./answers.ts";
import type { Answer } from "./answer.ts";
import type { ApiAddress } from "./call.ts";
import type { NotSent } from "./error.ts";
import { AutoscalerError } from "./error.ts";
import { openDemandQueue, putDemand } from "./push.ts";

/** Where demand can be sent. At least one is needed. */
export interface Doors {
  readonly api?: ApiAddress;
  /** As for {@link openDemandQueue}. */
  readonly queue?: string;
}

/** The demand is durable. Jobs that could not be read are left out: `rejectedJobs`, which over HTTP is in `body`. */
export type Accepted =
  | Extract<Answer<Acknowledgement>, { kind: "answered" }>
  /** The message is in the queue. The app reads it within seconds. */
  | {
      readonly kind: "queued";
      readonly messageId: string;
      readonly rejectedJobs: readonly RejectedJob[];
      /** Notes on accepted demand that is probably a mistake. */
      readonly notes: readonly string[];
    };

/** The result of sending demand. */
export type Sent =
  | Accepted
  /** The app did not accept it over HTTP. */
  | Exclude<Answer<Acknowledgement>, { kind: "answered" }>
  | NotSent;

/** How demand is sent. */
export interface SendOptions {
  /** Milliseconds since 1970: the revision of a message without one. Default: this machine's clock. */
  readonly now?: number;
}

/**
 * Sends demand by the queue if there is one, otherwise over HTTP. Demand that is too large for the queue is sent over HTTP. The app checks
 * an HTTP request itself. A message for the queue is checked here first, with the app's own reader, because the queue gives no answer.
 * Rejects with an {@link AutoscalerError} if the demand is not durable. With `throws: false` it resolves with the failure instead.
 */
export async function sendDemand(
  doors: Doors,
  message: DemandMessage | UncheckedMessage,
  options?: SendOptions,
): Promise<Accepted>;
export async function sendDemand(
  doors: Doors,
  message: DemandMessage | UncheckedMessage,
  options: SendOptions & { readonly throws: false },
): Promise<Sent>;
export async function sendDemand(
  doors: Doors,
  message: DemandMessage | UncheckedMessage,
  { now = Date.now(), throws }: SendOptions & { readonly throws?: false } = {},
): Promise<Sent> {
  const sent = await send(doors, message, now);
  if (throws === false || sent.kind === "answered" || sent.kind === "queued") return sent;
  throw new AutoscalerError(sent);
}

async function send(
  { api, queue }: Doors,
  message: DemandMessage | UncheckedMessage,
  now: number,
): Promise<Sent> {
  // Checked first, because the address contains the names.
  const misnamed = nameProblems(message);
  if (misnamed.length > 0) return { kind: "malformed", problems: misnamed };
  if (queue === undefined) return putOver(api, message, now, "neither an address nor a queue to send to");
  const checked = checkDemand(message, now);
  if (checked.problems.length > 0) return { kind: "malformed", problems: checked.problems };
  try {
    const pushed = await openDemandQueue(queue).push(message, now);
    return pushed.kind === "sent"
      ? {
          kind: "queued",
          messageId: pushed.messageId,
          rejectedJobs: checked.rejectedJobs,
          notes: checked.notes,
        }
      : await putOver(api, message, now, pushed.advice);
  } catch (error) {
    return queueFailure(error);
  }
}

function nameProblems({
  cluster,
  requestSet = "standard",
}: DemandMessage | UncheckedMessage): readonly Problem[] {
  return Object.entries({ cluster, requestSet })
    .filter(([, name]) => !isName(name))
    .map(([key, name]) => problemShowing(key, name, NAME_EXPECTED));
}

function putOver(
  api: ApiAddress | undefined,
  message: DemandMessage | UncheckedMessage,
  now: number,
  advice: string,
): Promise<Sent> | Sent {
  return api === undefined ? { kind: "too-large", advice } : putDemand(api, message, now);
}

/** What the app would report about a message: all problems, the jobs that it would leave out, and notes on the others. */
export function checkDemand(
  message: DemandMessage | UncheckedMessage,
  now: number,
): {
  readonly problems: readonly Problem[];
  readonly rejectedJobs: readonly RejectedJob[];
  readonly notes: readonly string[];
} {
  const read = readRequestSet(message, {
    cluster: clusterName(message.cluster),
    set: setName(message.requestSet ?? "standard"),
    now: instant(now),
    maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
  });
  switch (read.kind) {
    case "rejected":
      return { problems: read.problems, rejectedJobs: [], notes: [] };
    case "update": {
      const { rejectedJobs = [], demands = [] } = read.update.demand ?? {};
      return { problems: [], rejectedJobs, notes: noteNoAmounts(demands) };
    }
    default:
      return { problems: [], rejectedJobs: [], notes: [] };
  }
}

function queueFailure(error: unknown): Sent {
  const status =
    typeof error === "object" && error !== null && "statusCode" in error ? error.statusCode : undefined;
  const why = firstLine(messageOf(error));
  if (error instanceof Error && WITHOUT_TOKEN.test(error.name)) {
    const message = `the queue: not signed in on this machine: run az login, or give this machine an identity (${why})`;
    return { kind: "denied", message };
  }
  // The library refuses an address that would expose the credentials.
  if (error instanceof RangeError) return { kind: "denied", message: `the queue: ${why}` };
  const refused = typeof status === "number" && status < 500 && status !== 429;
  return { kind: refused ? "denied" : "unreachable", message: `the queue: ${why}` };
}

/** The errors of @azure/identity when it gets no token. */
const WITHOUT_TOKEN = /AuthenticationError$|^CredentialUnavailableError$/;

/** Without the parts of a signed address, or of a connection string, that the library may quote. */
function messageOf(error: unknown): string {
  return hideSecrets(error instanceof Error ? error.message : String(error));
}

/** Messages of the storage library repeat the whole answer after the first line. */
function firstLine(text: string): string {
  return text.split("\n", 1).join("");
}
