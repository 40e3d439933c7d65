import type { HttpHandler } from "@azure/functions";
import { answering } from "./answering.ts";

/** The description of this API. It is made at build time and read when first asked for: neither schemas nor text cost a cold start. */
export const answerOpenApi: HttpHandler = (_request, context) =>
  answering(context, async () => {
    const { default: description } = await import("./openapi.json", { with: { type: "json" } });
    return { status: 200, jsonBody: description };
  });
