import { SpoutError } from '@spout/model'

/** The error of a commit of which nothing is stored, since a server does not accept it. */
export const refused = (reason: string, cause?: unknown): SpoutError =>
  new SpoutError('StoreUnavailable', { reason }, { cause })
