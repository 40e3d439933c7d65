import { createServer } from "node:http";
import { onTestFinished } from "vitest";

/** An answer of a {@link stagedServer}. Default status: 200. */
export interface Staged {
  readonly status?: number;
  readonly body: unknown;
}

/**
 * A server whose answer depends on the request, such as "GET /api/clusters", on how often the same request came before, and on its body. It
 * closes when the test ends.
 */
export async function stagedServer(
  answerOf: (request: string, before: number, body: string) => Staged,
): Promise<{ readonly url: string; readonly seen: readonly string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    let sent = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      sent += part;
    });
    request.on("end", () => {
      const asked = `${request.method ?? ""} ${request.url ?? ""}`;
      const { status = 200, body } = answerOf(asked, seen.filter((one) => one === asked).length, sent);
      seen.push(asked);
      response.writeHead(status, { connection: "close" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, seen };
}
