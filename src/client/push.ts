import { QueueClient } from "@azure/storage-queue";
import type { Encoded } from "../wire/encode.ts";
import { encodeDemandMessage } from "../wire/encode.ts";
import type { DemandMessage } from "../wire/message.ts";

/** What became of a message that was to be sent. */
export type Pushed =
  | { readonly kind: "sent"; readonly messageId: string }
  /** Over the queue's 64 KiB, even packed: send it over HTTP. */
  | {
      readonly kind: "too-large";
      readonly bytes: number;
      readonly limit: number;
      /** One sentence for people: where to send it instead. */
      readonly advice: string;
    };

/** Sends demand to the queue of a function app. Gives the message a revision if it has none, so that it may be delivered twice. */
export function openDemandQueue(connectionString: string, name = "demand") {
  const queue = new QueueClient(connectionString, name);
  return {
    async push(message: DemandMessage, now: number): Promise<Pushed> {
      const encoded = encodeDemandMessage({ ...message, revision: message.revision ?? Math.floor(now) });
      if (encoded.kind === "too-large") return { ...encoded, advice: adviseHttp(message, encoded) };
      const { messageId } = await queue.sendMessage(encoded.text);
      return { kind: "sent", messageId };
    },
  };
}

function adviseHttp(
  message: DemandMessage,
  { bytes, limit }: Extract<Encoded, { kind: "too-large" }>,
): string {
  return `${bytes} bytes, packed, are more than the ${limit} of a queue message; send it over HTTP: PUT ${pathOf(message)}`;
}

function pathOf({ cluster, requestSet = "standard" }: DemandMessage): string {
  return `/api/clusters/${encodeURIComponent(cluster)}/request-sets/${encodeURIComponent(requestSet)}`;
}

/** What the API answered. `body` is its JSON; the text as it is if it is none, as from a proxy; undefined if it is empty. */
export interface PutAnswer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Sends demand over HTTP: no limit of 64 KiB, and the answer says what was accepted (202) or why not (problem+json). Gives the message a
 * revision if it has none, so that it may be sent again. Rejects if there is no answer.
 */
export async function putDemand(
  api: { readonly url: string; readonly key: string },
  message: DemandMessage,
  now: number,
): Promise<PutAnswer> {
  const response = await fetch(`${api.url}${pathOf(message)}`, {
    method: "PUT",
    headers: { "content-type": "application/json", "x-functions-key": api.key },
    body: JSON.stringify({ ...message, revision: message.revision ?? Math.floor(now) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : jsonOrText(text) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
