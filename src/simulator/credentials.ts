import { Buffer } from "node:buffer";
import type { SimulatorRequest, SimulatorResponse } from "./answer.ts";
import { answer } from "./answer.ts";

/** With the role "reader" only reads are allowed, with "none" no request at all. Other requests get 403 (cyclecloud-wire.md B). */
export type Credentials = {
  readonly username: string;
  readonly password: string;
  readonly role?: "admin" | "reader" | "none";
};

const failuresToLock = 5;
const failureWindowMs = 60_000;
const lockMs = 300_000;

/**
 * Basic authentication with CycleCloud's lock-out: 5 failures within 60 s lock the account for 5 minutes. During that time the right
 * password is refused as well (cyclecloud-wire.md B).
 */
export class Doorkeeper {
  readonly #credentials: Credentials;
  #failures: readonly number[] = [];
  #lockedUntil = -Infinity;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** Undefined lets the request in. A missing header is refused without counting as a failure. */
  check(
    { authorization, method }: Pick<SimulatorRequest, "authorization" | "method">,
    now: number,
  ): SimulatorResponse | undefined {
    if (authorization === undefined) return refuseCaller();
    const { username, password, role } = this.#credentials;
    const given = decodeBasic(authorization);
    if (given?.username === username && now < this.#lockedUntil) return refuseCaller();
    if (given?.username !== username || given.password !== password) {
      this.#countFailure(now);
      return refuseCaller();
    }
    return role === "none" || (role === "reader" && method !== "GET") ? answer(403, undefined) : undefined;
  }

  #countFailure(now: number): void {
    this.#failures = [...this.#failures.filter((at) => at > now - failureWindowMs), now];
    if (this.#failures.length < failuresToLock) return;
    this.#lockedUntil = now + lockMs;
    this.#failures = [];
  }
}

function refuseCaller(): SimulatorResponse {
  return answer(401, "<html>Unauthorized</html>", { "WWW-Authenticate": 'Basic realm="CycleCloud"' });
}

function decodeBasic(authorization: string): { username: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
