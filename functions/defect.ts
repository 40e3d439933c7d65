import type { Problem } from "../src/domain/demand.ts";
import { shorten } from "../src/wire/json/problem.ts";

const LONGEST_MESSAGE = 200;

/** The text about a message on which the app failed, if neither storage nor network was the cause. */
export function describeDefect(error: unknown): Problem {
  return {
    path: "",
    found: `a message on which the app failed: ${shorten(nameOf(error), LONGEST_MESSAGE)}`,
    expected: "a message that the app can handle; the failure is a defect of the app",
  };
}

function nameOf(error: unknown): string {
  // The engine quotes the input in these, which may be a secret.
  if (error instanceof SyntaxError) return error.name;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
