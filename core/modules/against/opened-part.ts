/** A part of a module that a permission opens, besides whole routes. */
export interface OpenedPart {
  readonly permission: string;
  /**
   * `entity contacts`, `action sync`, `configuration (read)`; `GET /contacts` for `anonymous`
   * callers; `POST /search` for `reads`, which agents may then call like a GET; `bodies of image/png in PUT /contacts`, which no schema covers; for `mount` the paths
   * of another module that it covers; for `address` a range of clients, or `every address`; for a
   * section of the descriptor an origin that calls go to as well.
   */
  readonly opens: string;
}
