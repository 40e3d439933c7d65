/** "These coefficients times the variables are at most so much." */
export interface Row {
  readonly coefficients: readonly number[];
  readonly most: number;
}

const EPSILON = 1e-9;
const MOST_STEPS = 20_000;

/**
 * Maximises `gains` times x, where x is not negative and keeps all rows: the simplex method on a dense dictionary. `most` of each row is
 * not negative, so that x = 0 is allowed and the search can begin there. Throws if there is no maximum. The caller checks the result: each
 * x that keeps the rows proves a bound, and one that is not the best proves a weaker bound.
 */
export function maximise(gains: readonly number[], rows: readonly Row[]): readonly number[] {
  const columns = gains.length;
  const table = rows.map(({ coefficients, most }) => [...coefficients, most]);
  const gain = [...gains, 0];
  // What each row and column stands for: variables are numbered first, then the slack of each row.
  const inRow = rows.map((_, row) => columns + row);
  const inColumn = gains.map((_, column) => column);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const column = entering(gain, columns, inColumn, step > MOST_STEPS / 2);
    if (column === undefined) break;
    const row = leaving(table, column, columns, inRow);
    if (row === undefined) throw new Error("the linear program has no maximum");
    pivot(table, gain, row, column);
    [inRow[row], inColumn[column]] = [inColumn[column] ?? 0, inRow[row] ?? 0];
  }
  const solution = gains.map(() => 0);
  inRow.forEach((variable, row) => {
    if (variable < columns) solution[variable] = Math.max(0, table[row]?.[columns] ?? 0);
  });
  return solution;
}

/** The column that promises most; if it takes too long, the first that promises anything, which cannot run in circles. */
function entering(
  gain: readonly number[],
  columns: number,
  inColumn: readonly number[],
  careful: boolean,
): number | undefined {
  let best: number | undefined;
  for (let column = 0; column < columns; column += 1) {
    if ((gain[column] ?? 0) <= EPSILON) continue;
    const better = careful
      ? (inColumn[column] ?? 0) < (inColumn[best ?? column] ?? 0)
      : (gain[column] ?? 0) > (gain[best ?? column] ?? 0);
    if (best === undefined || better) best = column;
  }
  return best;
}

/** The row that stops the growth of a column first. */
function leaving(
  table: readonly (readonly number[])[],
  column: number,
  columns: number,
  inRow: readonly number[],
): number | undefined {
  let best: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  table.forEach((row, index) => {
    const slope = row[column] ?? 0;
    if (slope <= EPSILON) return;
    const ratio = (row[columns] ?? 0) / slope;
    const first = (inRow[index] ?? 0) < (inRow[best ?? index] ?? 0);
    if (ratio < least - EPSILON || (ratio <= least + EPSILON && first)) {
      best = index;
      least = Math.min(least, ratio);
    }
  });
  return best;
}

function pivot(table: number[][], gain: number[], at: number, column: number): void {
  const chosen = table[at] ?? [];
  const slope = chosen[column] ?? 1;
  for (let i = 0; i < chosen.length; i += 1) chosen[i] = (i === column ? 1 : (chosen[i] ?? 0)) / slope;
  for (const row of [...table, gain]) {
    if (row === chosen) continue;
    const factor = row[column] ?? 0;
    if (factor === 0) continue;
    row[column] = 0;
    for (let i = 0; i < row.length; i += 1) row[i] = (row[i] ?? 0) - factor * (chosen[i] ?? 0);
  }
}
