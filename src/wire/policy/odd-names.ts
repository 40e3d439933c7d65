import type { Problem } from "../json/problem.ts";
import { problemShowing } from "../json/problem.ts";
import type { ConfigPath } from "./config-path.ts";
import { memberText } from "./config-path.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** A name, pattern or word of a document, and where it stands. */
interface Named {
  readonly text: string;
  /** With the place in a list, as in `senders[0].requestSets[1]`. */
  readonly at: string;
  /** What a command can set or unset. It names a list as a whole. */
  readonly path: ConfigPath;
}

/** Names that people do not see as they are. What they show is another name, which has the rights of the others. */
export function doubtNames(from: Fields): readonly Problem[] {
  return namesIn(from).flatMap(({ at, text }) => {
    const expected = PLAIN.test(text) ? undefined : oddityOf(text);
    return expected === undefined ? [] : [problemShowing(at, text, expected)];
  });
}

/** Nearly all names: no space at an end, and nothing beyond ASCII. */
const PLAIN = /^(?! )[ -~]*$(?<! )/;

function oddityOf(name: string): string | undefined {
  if (name !== name.trim()) return "a name without spaces at its ends";
  if (INVISIBLE.test(name)) return "a name without invisible characters";
  return isAlike(name)
    ? "a name in the letters of one script: some of these are only drawn like Latin ones"
    : undefined;
}

/** Also each space that is not the usual one. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}/u;

/** Letters of Cyrillic and Greek that most fonts draw like Latin ones. */
const LIKE_LATIN =
  /[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03c5\u03bd\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0422\u0425\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051b\u051d]/u;

/** Whether letters that are drawn like Latin ones stand among Latin ones, or are all that there are. */
function isAlike(name: string): boolean {
  const letters = name.match(/\p{L}/gu) ?? [];
  const others = letters.filter((letter) => !/\p{Script=Latin}/u.test(letter));
  const alike = others.filter((letter) => LIKE_LATIN.test(letter));
  return alike.length > 0 && (others.length < letters.length || alike.length === others.length);
}

/** Constraints in `default_resources` may be nested, though not as deep. */
const DEEPEST = 64;

/** All keys and texts of the members that have names. */
export function namesIn(from: Fields): readonly Named[] {
  const found: Named[] = [];
  const visit = (value: unknown, at: string, path: ConfigPath, isListed: boolean, depth: number): void => {
    if (typeof value === "string") found.push({ text: value, at, path });
    if (depth === DEEPEST) return;
    if (Array.isArray(value))
      value.forEach((item, index) => visit(item, `${at}[${index}]`, path, true, depth + 1));
    else if (isFields(value))
      for (const [key, member] of Object.entries(value)) {
        const next = { at: `${at}${memberText(key)}`, path: isListed ? path : [...path, key] };
        found.push({ text: key, ...next });
        visit(member, next.at, next.path, isListed, depth + 1);
      }
  };
  for (const key of WITH_NAMES) visit(from[key], key, [key], false, 0);
  return found;
}

/** Members of a document whose keys or values are names. Others may hold secrets, or have no effect. */
const WITH_NAMES = [
  "idleTimeout",
  "idle_timeout",
  "bootTimeout",
  "boot_timeout",
  "downTimeout",
  "failedTimeout",
  "deallocatedTimeout",
  "nodearrays",
  "exclusiveNodearrays",
  "named",
  "default_resources",
  "placementGroups",
  "caps",
  "senders",
  "mode",
] as const;
