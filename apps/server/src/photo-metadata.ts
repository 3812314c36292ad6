/**
 * What a photo says about itself, for taken.ts. Apart from it, since the reader behind it is large and a browser loads
 * it only once photos are picked. Nothing of the picture itself is decoded.
 */
export { NO_METADATA, readMetadata } from './features/meals/photo/metadata.ts'
