import type { Problem } from "../domain/demand.ts";
import { isUnresolved, UNRESOLVED } from "./storage.ts";

/** Key id -> secret. `current` signs, all are accepted. */
export interface AutostopKeys {
  readonly current: string;
  readonly byId: ReadonlyMap<string, string>;
}

export const KEYS = "AUTOSCALER_AUTOSTOP_KEYS";
/** HMAC-SHA256 gains nothing from more than 32 bytes, and 32 random characters cannot be guessed. */
const SHORTEST = 32;
export const KEYS_EXPECTED = `id:secret pairs separated by commas; ids of letters, digits, - and _; secrets of ${SHORTEST} characters or more without a colon`;

/**
 * AUTOSCALER_AUTOSTOP_KEYS is "id:secret", newest first, separated by commas: the first signs, all are accepted. A guessed secret allows
 * every idle node to be stopped, so texts that are clearly not random are refused. No secret is ever shown.
 */
export function readAutostopKeys(setting: string | undefined, problems: Problem[]): AutostopKeys | undefined {
  if (setting === undefined || setting === "") return undefined;
  if (isUnresolved(setting)) {
    problems.push({ path: KEYS, ...UNRESOLVED });
    return undefined;
  }
  const byId = new Map<string, string>();
  const refuse = (found: string, expected: string): undefined => {
    problems.push({ path: KEYS, found, expected });
  };
  for (const part of setting.split(",")) {
    const [id, secret, ...rest] = part.trim().split(":");
    if (id === undefined || !/^[A-Za-z0-9_-]+$/.test(id) || secret === undefined || rest.length > 0)
      return refuse("something else (not shown: it may be a secret)", KEYS_EXPECTED);
    if (secret.length < SHORTEST)
      return refuse(`a secret of ${secret.length} characters for "${id}"`, KEYS_EXPECTED);
    if (isPlaceholder(secret))
      return refuse(`for "${id}" a text that stands for a secret, or repeats itself`, RANDOM);
    if (byId.has(id)) return refuse(`two secrets of the id "${id}"`, "each id once");
    if ([...byId.values()].includes(secret)) return refuse(`the secret of "${id}" twice`, "each secret once");
    byId.set(id, secret);
  }
  const [current] = byId.keys();
  return current === undefined ? undefined : { current, byId };
}

const RANDOM = "secrets made at random, as by: openssl rand -hex 24";

/** Placeholders for a secret in samples and instructions. */
const SAMPLE = /replace|random-|change-?me|placeholder|example|sample|your-?own|your-?secret|put the/i;
/** 32 random hexadecimal digits almost always have at least this many different ones: fewer occur once in many millions. */
const LEAST_VARIETY = 8;

/** The text of a sample, or one that repeats a few characters. */
function isPlaceholder(secret: string): boolean {
  return SAMPLE.test(secret) || new Set(secret).size < LEAST_VARIETY || /^(.{1,16}?)\1+$/.test(secret);
}
