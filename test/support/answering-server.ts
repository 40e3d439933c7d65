import { createServer } from "node:http";
import { onTestFinished } from "vitest";

/** A request as a server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: string;
}

/** A server that gives every request the same answer and notes the requests. It closes when the running test ends. */
export async function answeringServer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly seen: readonly SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers: given } = request;
      const key = given["x-functions-key"];
      seen.push({
        method,
        path: url,
        key: typeof key === "string" ? key : undefined,
        body: Buffer.concat(chunks).toString(),
      });
      response.writeHead(status, { ...headers, connection: "close" }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, seen };
}
