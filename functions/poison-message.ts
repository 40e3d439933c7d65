import type { PoisonMessage } from "../src/app/ports/demand-queue.ts";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Composition } from "../src/compose.ts";
import type { Problem } from "../src/domain/demand.ts";
import { describeDefect } from "./defect.ts";
import { putMessageAside } from "./put-message-aside.ts";
import { retryPoison } from "./retry-poison.ts";

/** A message that was taken more often than this has ended the process each time. It is put aside unread. */
const MOST_TAKEN = 3;

/** Tries a message once more if that is safe, and otherwise puts it aside. Throws PortError only. */
export async function handlePoison(composed: Composition, message: PoisonMessage): Promise<void> {
  try {
    if (message.taken > MOST_TAKEN) return await putMessageAside(composed, message, {}, [TOO_OFTEN]);
    await retryPoison(composed, message);
  } catch (error) {
    if (error instanceof PortError) throw error;
    await putMessageAside(composed, message, {}, [describeDefect(error)]);
  }
}

const TOO_OFTEN: Problem = {
  path: "",
  found: `a message that was begun ${MOST_TAKEN} times and never dealt with`,
  expected: "a message that the app can read; it seems to have ended the app each time",
};
