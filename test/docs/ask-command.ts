/** For a shell: has the command line run in the process that serves `command-server.ts`. Arguments: its socket, and the command's own. */
import { readFileSync, writeSync } from "node:fs";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { Asked, Told } from "./command-server.ts";

const [socket = "", ...words] = process.argv.slice(2);
const asked: Asked = {
  words,
  folder: process.cwd(),
  environment: process.env,
  input: readFileSync(0, "utf8"),
};
const connection = connect(socket);
connection.end(JSON.stringify(asked));
const told: Told = JSON.parse(await text(connection));
try {
  for (const [stream, line] of told.said) writeSync(stream, `${line}\n`);
} catch (error) {
  // The reader may stop reading, as `head` does.
  if (!(error instanceof Error) || !("code" in error) || error.code !== "EPIPE") throw error;
}
process.exitCode = told.code;
