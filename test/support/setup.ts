/** Ends the tests at once on a Node that is too old. Otherwise they fail later, with errors that do not name the cause. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `Node ${process.versions.node} runs the tests; 22.19 or newer is needed. Start them with "npm test", after "npm ci" without --ignore-scripts.`,
  );
}
