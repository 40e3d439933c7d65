import type { core } from "zod";
import { z } from "zod";
import { showText } from "../domain/shown.ts";
import type { Fields } from "../domain/fields.ts";
import { isFields } from "../domain/fields.ts";

export { hideSecrets } from "../domain/secrets.ts";
export { showJson, showLines, showText } from "../domain/shown.ts";
export { withoutAbsent } from "../domain/without-absent.ts";

/*
 * Readers of answers that are shown to users, made from the schemas of the answers. A reader takes what it knows and can read, and leaves
 * out the rest: an app of another release may say more, or less. No text of theirs acts on a terminal, or begins a line of its own.
 */

/** What a reader makes of the answer `T`. Single values may be missing; lists may be empty; parts that the answer always has are there. */
export type Readable<T> = unknown extends T
  ? unknown
  : [T] extends [readonly (infer I)[] | undefined]
    ? readonly Known<I>[]
    : [T] extends [string | undefined]
      ? string | undefined
      : [T] extends [number | undefined]
        ? number | undefined
        : [T] extends [boolean | undefined]
          ? boolean | undefined
          : [T] extends [string | number | boolean | null]
            ? string | number | boolean | undefined
            : Part<NonNullable<T>> | Extract<T, undefined>;

type Known<T> = Exclude<Readable<T>, undefined>;

type Part<T> = string extends keyof T
  ? Readonly<Record<string, Known<T[string & keyof T]>>>
  : { readonly [K in KeyOf<T>]: Readable<MemberOf<T, K>> };

/** A part may have several forms: then it has the members of all. */
type KeyOf<T> = T extends unknown ? keyof T : never;
type MemberOf<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never;

/** Makes the reader of the answer with this schema. The reader returns undefined only if the answer is no object. */
export function readerOf<S extends z.ZodType>(schema: S): (body: unknown) => Readable<z.infer<S>> | undefined;
export function readerOf(schema: z.ZodType): Reader {
  let read: Reader | undefined;
  return (body) => (read ??= readerOfKnown(schema))(body);
}

type Reader = (value: unknown) => unknown;

/** The reader gives undefined for a value of another kind than the schema says, and no items for what is no list. */
function readerOfKnown(schema: core.$ZodType): Reader {
  if (schema instanceof z.ZodArray) {
    const read = readerOfKnown(schema.element);
    return (value) => (Array.isArray(value) ? value.map(read).filter((item) => item !== undefined) : []);
  }
  if (schema instanceof z.ZodRecord) return readerOfRecord(readerOfKnown(schema.valueType));
  const members = membersOf(schema).map(([name, member]) => [name, readerOfMember(member)] as const);
  if (members.length === 0) return readerOfValue(schema);
  return (value) =>
    isFields(value)
      ? Object.fromEntries(members.map(([name, read]) => [name, read(value[name])]))
      : undefined;
}

/** Parts that an answer always has are never missing. */
function readerOfMember(schema: core.$ZodType): Reader {
  if (schema instanceof z.ZodOptional) return readerOfKnown(schema.unwrap());
  const read = readerOfKnown(schema);
  return (value) => read(value) ?? read({});
}

/** None: it is a single value. */
function membersOf(schema: core.$ZodType): readonly (readonly [string, core.$ZodType])[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(membersOf);
  return schema instanceof z.ZodObject ? Object.entries<core.$ZodType>(schema.shape) : [];
}

function readerOfRecord(read: Reader): Reader {
  const readAll = (value: Fields) =>
    Object.entries(value).map(([name, one]) => [showText(name), read(one)] as const);
  return (value) =>
    isFields(value) ? Object.fromEntries(readAll(value).filter(([, one]) => one !== undefined)) : undefined;
}

/** A union of single values takes any of them. */
function readerOfValue(schema: core.$ZodType): Reader {
  if (schema instanceof z.ZodUnknown) return (value) => value;
  const kinds = schema instanceof z.ZodUnion ? ["string", "number", "boolean"] : [kindOf(schema)];
  return (value) => {
    if (!kinds.includes(typeof value)) return undefined;
    return typeof value === "string" ? showText(value) : value;
  };
}

function kindOf(schema: core.$ZodType): string {
  if (schema instanceof z.ZodLiteral) return typeof [...schema.values][0];
  if (schema instanceof z.ZodNumber) return "number";
  return schema instanceof z.ZodBoolean ? "boolean" : "string";
}
