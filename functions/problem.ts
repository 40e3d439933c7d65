import type { HttpResponseInit } from "@azure/functions";
import type { Problem } from "../src/domain/demand.ts";
import { PortError } from "../src/app/ports.ts";

/** An error answer as application/problem+json (RFC 9457). */
export function problem(
  status: number,
  title: string,
  detail: string,
  more: {
    readonly problems?: readonly Problem[];
    readonly retryAfterSeconds?: number;
    readonly [key: string]: unknown;
  } = {},
): HttpResponseInit {
  const { retryAfterSeconds, ...members } = more;
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body: JSON.stringify({ type: "about:blank", title, status, detail, ...members }),
  };
}

export function unknownCluster(name: string, known: Iterable<string>): HttpResponseInit {
  return problem(
    404,
    "Unknown cluster",
    `cluster "${name}" is not in AUTOSCALER_CLUSTERS (known: ${[...known].join(", ") || "none"})`,
  );
}

/** Storage that cannot be reached is "cannot tell now", never a crash; anything else is a defect and shows as one. */
export async function answering(work: () => Promise<HttpResponseInit>): Promise<HttpResponseInit> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return problem(503, "Cannot tell now", error.message, { retryAfterSeconds: 10 });
  }
}
