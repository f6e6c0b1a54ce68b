import type { OctaviaListener, OctaviaPool } from '../terms/octavia-resources.ts'

/** The certificates that a listener names. */
export const listenerReferences = ({ tls }: Pick<OctaviaListener, 'tls'>): readonly string[] =>
  [tls.defaultRef, ...tls.sniRefs, tls.clientCaRef, tls.clientCrlRef].filter((ref) => ref !== null)

/** The certificates that a pool names. */
export const poolReferences = ({ tls }: Pick<OctaviaPool, 'tls'>): readonly string[] =>
  [tls.certificateRef, tls.caRef, tls.crlRef].filter((ref) => ref !== null)
