/**
 * Loaded before a TypeScript entry point by `node --import`. JavaScript, because a Node that is too old cannot read TypeScript and would
 * only name the file extension. npm ci brings Node 24 on Linux and Windows, so this speaks where there is no such package, or where
 * `npm ci` left it out.
 */
const NEEDED = [22, 19];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(
    `Node ${process.versions.node} is too old: Node ${NEEDED.join(".")} or newer is needed. "npm ci" brings Node 24 on Linux (x64, arm64) and Windows (x64); elsewhere, install it.\n`,
  );
  process.exit(1);
}
