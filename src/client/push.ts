import type { TokenCredential } from "@azure/identity";
import { AnonymousCredential, QueueClient } from "@azure/storage-queue";
import { isPlainHttp } from "../domain/loopback.ts";
import { withoutSlashesAtEnd } from "../domain/text.ts";
import type { Encoded } from "../wire/message/encode.ts";
import { encodeDemandMessage } from "../wire/message/encode.ts";
import type { DemandMessage, UncheckedMessage } from "../wire/message/message.ts";
import type { Acknowledgement } from "./answers.ts";
import type { Answer } from "./answer.ts";
import type { ApiAddress, Request } from "./call.ts";
import { callApi } from "./call.ts";
import { pathOf } from "./requests.ts";
import type { Bytes } from "../domain/units.ts";

/** The result of sending a message. */
export type Pushed =
  | { readonly kind: "sent"; readonly messageId: string }
  /** Over the queue's 64 KiB, even packed: send it over HTTP. */
  | {
      readonly kind: "too-large";
      readonly bytes: Bytes;
      readonly limit: number;
      /** A sentence for users: where to send it instead. */
      readonly advice: string;
    };

/**
 * Sends demand to the queue of a function app. `account` is one of three:
 * - the address of its queue service ("https://NAME.queue.core.windows.net"). The identity that is signed in on this machine sends
 *   (@azure/identity's DefaultAzureCredential). It needs the role Storage Queue Data Message Sender on the queue.
 * - a signed address (SAS) of the queue. It needs only the permission `add` ("https://NAME.queue.core.windows.net/demand?sv=...&sig=...").
 * - the connection string of the storage account or of an emulator. It gives access to everything in the account.
 *
 * Throws a RangeError for plain http to another machine. A message without a revision gets one, so that a second delivery has no effect.
 * Rejects with the storage library's errors if the queue does not accept the message.
 */
export function openDemandQueue(account: string, name = "demand") {
  const queue = openQueue(account, name);
  return {
    async push(message: DemandMessage | UncheckedMessage, now: number): Promise<Pushed> {
      const encoded = encodeDemandMessage({ ...message, revision: message.revision ?? Math.floor(now) });
      if (encoded.kind === "too-large") return { ...encoded, advice: adviseHttp(message, encoded) };
      const { messageId } = await queue.sendMessage(encoded.text);
      return { kind: "sent", messageId };
    },
  };
}

/** Few and quick, because senders repeat their demand every few minutes. */
const RETRIES = { maxTries: 3, retryDelayInMs: 250, maxRetryDelayInMs: 2000 };

function openQueue(account: string, name: string): QueueClient {
  const options = { retryOptions: RETRIES };
  const url = /^https?:/i.test(account) && URL.canParse(account) ? new URL(account) : undefined;
  if (url === undefined) return new QueueClient(account, name, options);
  const isSigned = url.searchParams.has("sig");
  // Without encryption, others on the network can read a bearer token or a signature and use it.
  if (isPlainHttp(account))
    throw new RangeError(`found plain http to ${url.host}, expected an https address`);
  const path = withoutSlashesAtEnd(url.pathname);
  if (!path.endsWith(`/${name}`)) url.pathname = `${path}/${name}`;
  return isSigned
    ? new QueueClient(url.href, new AnonymousCredential(), options)
    : new QueueClient(url.href, ownIdentity(), options);
}

/** The signed-in identity. The library is loaded at first use, because most callers have a connection string or use HTTP. */
function ownIdentity(): TokenCredential {
  let loaded: Promise<TokenCredential> | undefined;
  return {
    async getToken(scopes, options) {
      loaded ??= import("@azure/identity").then(({ DefaultAzureCredential }) => new DefaultAzureCredential());
      return (await loaded).getToken(scopes, options);
    },
  };
}

function adviseHttp(
  message: Pick<DemandMessage, "cluster" | "requestSet">,
  { bytes, limit }: Extract<Encoded, { kind: "too-large" }>,
): string {
  return `${bytes} bytes, packed, are more than the ${limit} of a queue message; send it over HTTP: PUT ${addressOf(message)}`;
}

function addressOf({
  cluster,
  requestSet = "standard",
}: Pick<DemandMessage, "cluster" | "requestSet">): string {
  return pathOf(cluster, requestSet);
}

/**
 * Sends demand over HTTP, without the queue's limit of 64 KiB. The answer lists what was accepted (202) or the problems (problem+json). A
 * message without a revision gets one, so that it may be sent again. Never throws because of the network. Throws a RangeError for names
 * that {@link pathOf} refuses.
 */
export function putDemand(
  api: ApiAddress,
  message: DemandMessage | UncheckedMessage,
  now: number,
): Promise<Answer<Acknowledgement>> {
  const call: Request<Acknowledgement> = {
    method: "PUT",
    role: "sender",
    path: addressOf(message),
    body: { ...message, revision: message.revision ?? Math.floor(now) },
  };
  return callApi(api, call);
}
