import type { HttpHandler } from "@azure/functions";
import { describeQueues } from "../src/app/describe/describe-queues.ts";
import { rejectedMessageShown } from "../src/app/describe/rejected-shown.ts";
import { composition } from "../src/compose.ts";
import type { RejectedMessagesShown } from "../src/wire/api/health-answers.ts";
import { answering } from "./answering.ts";

/** The number of messages in `demand-rejected`, and the oldest ones with their texts, which may hold secrets: for operators. */
export const answerRejectedMessages: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { rejected, oldestRejected } = await describeQueues(composition().app);
    const jsonBody: RejectedMessagesShown = { ...rejected, oldest: oldestRejected.map(rejectedMessageShown) };
    return { status: 200, jsonBody };
  });
