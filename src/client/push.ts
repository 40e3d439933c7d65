import { QueueClient } from "@azure/storage-queue";
import { encodeDemandMessage } from "../wire/encode.ts";
import type { DemandMessage } from "../wire/message.ts";

/** What became of a message that was to be sent. */
export type Pushed =
  | { readonly kind: "sent"; readonly messageId: string }
  /** Over the queue's 64 KiB, even packed: send it over HTTP. */
  | { readonly kind: "too-large"; readonly bytes: number; readonly limit: number };

/** Sends demand to the queue of a function app. Gives the message a revision if it has none, so that it may be delivered twice. */
export function openDemandQueue(connectionString: string, name = "demand") {
  const queue = new QueueClient(connectionString, name);
  return {
    async push(message: DemandMessage, now: number): Promise<Pushed> {
      const encoded = encodeDemandMessage({ ...message, revision: message.revision ?? Math.floor(now) });
      if (encoded.kind === "too-large") return encoded;
      const { messageId } = await queue.sendMessage(encoded.text);
      return { kind: "sent", messageId };
    },
  };
}

/** Sends demand over HTTP: no limit of 64 KiB, and the answer says what was accepted. */
export async function putDemand(
  api: { readonly url: string; readonly key: string },
  message: DemandMessage,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { cluster, requestSet = "standard" } = message;
  const address = `${api.url}/api/clusters/${encodeURIComponent(cluster)}/request-sets/${encodeURIComponent(requestSet)}`;
  const response = await fetch(address, {
    method: "PUT",
    headers: { "content-type": "application/json", "x-functions-key": api.key },
    body: JSON.stringify(message),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}
