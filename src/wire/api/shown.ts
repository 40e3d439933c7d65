import type { z } from "zod";

/**
 * What the app builds for an answer with this schema. Read-only. Every member of the schema must be named, and one that may be absent is
 * undefined then: JSON leaves it out. A member that only the schema has, or only the app, is therefore an error of the compiler
 * (docs/decisions.md, "The schema describes each answer once").
 */
export type Shown<S extends z.ZodType> = Complete<z.infer<S>>;

type Complete<T> = T extends readonly (infer I)[]
  ? readonly Complete<I>[]
  : T extends object
    ? Readonly<
        { [K in keyof T as MayBeUndefined<T, K> extends true ? K : never]-?: Complete<T[K]> } & {
          [K in keyof T as MayBeUndefined<T, K> extends true ? never : K]: Complete<T[K]>;
        }
      >
    : T;

/** Optional in the schema. False for the keys of a partial record, which are data and not members. */
type MayBeUndefined<T, K extends keyof T> = undefined extends Required<T>[K] ? true : false;

/** The same for a part of an answer in which absent members are left out, because it is also stored: see `withoutAbsent`. */
export type Sparse<S extends z.ZodType> = Fixed<z.infer<S>>;

type Fixed<T> = T extends readonly (infer I)[]
  ? readonly Fixed<I>[]
  : T extends object
    ? { readonly [K in keyof T]: Fixed<T[K]> }
    : T;

/** The members of `T`, all of them named. */
export type Named<T> = Readonly<
  { [K in keyof T as MayBeUndefined<T, K> extends true ? K : never]-?: T[K] } & {
    [K in keyof T as MayBeUndefined<T, K> extends true ? never : K]: T[K];
  }
>;
