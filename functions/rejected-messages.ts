import type { HttpHandler } from "@azure/functions";
import { describeQueues } from "../src/app/describe/describe-queues.ts";
import { composition } from "../src/compose.ts";
import { isoTime } from "../src/domain/units.ts";
import { answering } from "./answering.ts";

export const answerRejectedMessages: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { rejected, oldestRejected } = await describeQueues(composition().app);
    const oldest = oldestRejected.map((message) => ({
      ...message,
      rejectedAt: isoTime(message.rejectedAt),
    }));
    return { status: 200, jsonBody: { ...rejected, oldest } };
  });
