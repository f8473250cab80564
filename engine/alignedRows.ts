/**
 * A table's rows as lines: columns as wide as their widest cell.
 *
 * @param left how many columns, the first ones, are flush left; the others are flush right, as numbers are
 */
export function alignedRows(rows: readonly (readonly string[])[], left: number): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column < left ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ')
      .trimEnd(),
  );
}
