import { createHash } from "node:crypto";
import { createServer } from "node:net";

/**
 * Makes this process the only agent of a state folder on this host. Undefined: another one runs. Else a function that ends this. The system
 * itself frees the name when the process ends, however it ends, and a full disk does not matter.
 */
export function becomeOnlyCopy(folder: string): Promise<(() => void) | undefined> {
  const digest = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    // A name of Linux without a file. Another namespace of networks is another host.
    server.listen({ path: `\0cyclecloud-autoscaler-agent-${digest}` }, () => {
      server.unref();
      resolve(() => void server.close());
    });
  });
}
