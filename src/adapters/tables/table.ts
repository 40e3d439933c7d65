/** A row as stored: property name -> value. Binary properties are byte arrays, 64-bit integers bigints. */
export type Row = Readonly<Record<string, unknown>>;

/** A row as read, with its version. */
export interface ReadRow {
  readonly rowKey: string;
  readonly etag: string;
  readonly values: Row;
}

export type WriteOutcome =
  | { readonly kind: "written"; readonly etag: string }
  | { readonly kind: "conflict" };

/** One table, with the few operations that the stores need. Every method throws only PortError. */
export interface Table {
  /**
   * Creates the table if it is missing. Once per process; concurrent callers share it. Every other call does it too if the table is
   * missing.
   */
  ensure(): Promise<void>;
  /** A point read. Undefined if there is no such row. `select` limits the properties. */
  read(partition: string, rowKey: string, select?: readonly string[]): Promise<ReadRow | undefined>;
  /** Inserts. Conflict: the row exists. */
  insert(partition: string, rowKey: string, values: Row): Promise<WriteOutcome>;
  /** Replaces the row if it is still at `etag`. Conflict: it is not, or it is gone. */
  replace(partition: string, rowKey: string, values: Row, etag: string): Promise<WriteOutcome>;
  /** Writes the row unconditionally. */
  put(partition: string, rowKey: string, values: Row): Promise<void>;
  /** Removes the row. No error if it is missing. */
  remove(partition: string, rowKey: string): Promise<void>;
  /** Rows with `from <= RowKey < to`, in order of RowKey, at most `limit`. */
  list(
    partition: string,
    range: KeyRange,
    select: readonly string[],
    limit: number,
  ): Promise<readonly ReadRow[]>;
  /** Writes up to 100 rows in one transaction, whatever was there: all or nothing. */
  putTogether(partition: string, rows: readonly KeyedRow[]): Promise<void>;
  /**
   * Writes the rows in one transaction: all or nothing. The first is replaced at its etag, or inserted if it has none. The others are
   * written unconditionally. Conflict: the first has changed, is gone, or exists, or a row into which values are merged is missing.
   */
  writeTogether(partition: string, first: VersionedRow, others: readonly OtherRow[]): Promise<WriteOutcome>;
  /**
   * Removes up to 99 rows (100 without a guard) in one transaction: all or nothing. The guard is another row that must still be at its
   * etag. It is touched, which changes its etag. Conflict: the guard has changed, or a row was already gone.
   */
  removeTogether(partition: string, rowKeys: readonly string[], guard?: Guard): Promise<WriteOutcome>;
}

/** A row to write. */
interface KeyedRow {
  readonly rowKey: string;
  readonly values: Row;
}

/** `put`: replaces the row, if there is one. `merge`: adds the values to a row that exists, whatever its etag. */
export interface OtherRow extends KeyedRow {
  readonly how: "put" | "merge";
}

/** Absent etag: the row does not exist yet. */
export interface VersionedRow extends KeyedRow {
  readonly etag?: string | undefined;
}

export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

export interface Guard {
  readonly rowKey: string;
  readonly etag: string;
  /** Merged into the guard. */
  readonly values: Row;
}

/** Rows that one transaction may change. */
export const TRANSACTION_ROWS = 100;
