/** Where text is asked for: all of a document around the cursor. What the suggest widget has selected counts as typed. */
export interface Place {
  readonly uri: string;
  readonly before: string;
  readonly after: string;
}

export function isSamePlace(one: Place, other: Place): boolean {
  return one.uri === other.uri && one.before === other.before && one.after === other.after;
}

/** Replaces [start, end) of `before + after`, in UTF-16 units; start <= before.length <= end. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Entry {
  readonly place: Place;
  readonly edits: readonly Edit[];
}

/** Enough for going back over what was just typed; each holds on to the text of its document. */
const capacity = 16;

/** The last suggestions, so that typing what is suggested, or taking it back, asks nobody. */
export class SuggestionCache {
  #entries: readonly Entry[] = [];

  /** @param edits all that is suggested at the place, the first one to be found first */
  add(place: Place, edits: readonly Edit[]): void {
    const others = this.#entries.filter((entry) => !isSamePlace(entry.place, place));
    this.#entries = [{ place, edits }, ...others].slice(0, capacity);
  }

  /** @returns what is left of a known suggestion at this place */
  find(place: Place): Edit | undefined {
    for (const known of this.#entries) {
      for (const edit of known.edits) {
        const left = rest(known.place, edit, place);
        if (left) return left;
      }
    }
    return undefined;
  }

  clear(): void {
    this.#entries = [];
  }
}

/**
 * What is left of an edit suggested at one place when the cursor is at another, such that applying it gives
 * the very document that the edit promised; undefined when it cannot be reached from there. Between the two
 * places text of the suggestion was typed or accepted, and the editor may have closed brackets by itself.
 */
export function rest(from: Place, edit: Edit, to: Place): Edit | undefined {
  if (from.uri !== to.uri) return undefined;
  if (isSamePlace(from, to)) return edit;
  if (edit.start !== from.before.length || !to.before.startsWith(from.before)) return undefined;
  const typed = to.before.slice(from.before.length);
  const tail = from.after.slice(edit.end - from.before.length);
  if (!edit.text.startsWith(typed) || !to.after.endsWith(tail)) return undefined;
  const text = edit.text.slice(typed.length);
  const covered = to.after.slice(0, to.after.length - tail.length);
  if (text === '' || text === covered) return undefined;
  return replacement(to.before.length, covered, text);
}

/**
 * The edit that puts `text` in the place of `covered`, as VS Code can show it: what it replaces has to stand on the cursor's
 * line. After Enter between brackets the closing one is on a line of its own, and stays there.
 */
function replacement(start: number, covered: string, text: string): Edit | undefined {
  if (!covered.includes('\n')) {
    return isSubsequence(covered, text) ? { start, end: start + covered.length, text } : undefined;
  }
  return text.endsWith(covered) ? { start, end: start, text: text.slice(0, -covered.length) } : undefined;
}

/** VS Code shows a replacement only when what it replaces can be read in it, in order. */
export function isSubsequence(covered: string, text: string): boolean {
  let found = 0;
  for (let i = 0; i < text.length && found < covered.length; i++) {
    if (text[i] === covered[found]) found++;
  }
  return found === covered.length;
}
