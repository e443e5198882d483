/** A manifest that cannot be had now and may come later; whoever asked may ask again. */
export class ManifestUnavailable extends Error {
  override readonly name = 'ManifestUnavailable';
}
