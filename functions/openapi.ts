import type { HttpHandler } from "@azure/functions";
import { answering } from "./answering.ts";

/**
 * The description of this API. Made at build time and read at the first request, so that neither schemas nor text slow down a cold start.
 */
export const answerOpenApi: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { default: description } = await import("./openapi.json", { with: { type: "json" } });
    return { status: 200, jsonBody: description };
  });
