/** A part of the imported document that has no place in the manifest. */
export interface UnmappedPart {
  /** The operation, such as `GET /pets`, or another part of the document. */
  readonly place: string;
  readonly part: string;
  readonly reason: string;
}

/** Adds a part of a place to the list. */
export type Report = (part: string, reason: string) => void;

const OPERATION = 'the operation';

/** The part of an operation that is one of several of a route. */
export const SHARED_ROUTE = 'its own route';

/** Whether a whole operation has no route. */
export function isOperation({ part }: UnmappedPart): boolean {
  return part === OPERATION;
}

/** Collects omitted parts of an import; each part of a place is listed once. */
export class UnmappedParts {
  readonly #parts = new Map<string, UnmappedPart>();

  add(place: string, part: string, reason: string): void {
    this.#parts.set(JSON.stringify([place, part, reason]), { place, part, reason });
  }

  /** Adds parts of one place. */
  at(place: string): Report {
    return (part, reason) => this.add(place, part, reason);
  }

  /** Records that the operation at `place` has no route; its other parts are then not listed. */
  addOperation(place: string, reason: string): void {
    this.add(place, OPERATION, reason);
  }

  list(): UnmappedPart[] {
    const all = [...this.#parts.values()];
    const missing = new Set(all.filter(isOperation).map(({ place }) => place));
    return all.filter((part) => isOperation(part) || !missing.has(part.place));
  }
}
