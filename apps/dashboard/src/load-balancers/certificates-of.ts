import type { LoadBalancer } from '@spout/model'

/** Ids of all certificates that listeners and pools name, with repetitions. */
export const certificatesOf = ({ listeners, pools }: Pick<LoadBalancer, 'listeners' | 'pools'>): readonly string[] => [
  ...listeners.flatMap(({ tls }) => [
    ...(tls?.certificateIds ?? []),
    ...present(tls?.clientCertificates?.caCertificateId, tls?.clientCertificates?.crlCertificateId),
  ]),
  ...pools.flatMap(({ tls }) => present(tls?.caCertificateId, tls?.crlCertificateId, tls?.clientCertificateId)),
]

const present = (...ids: readonly (string | null | undefined)[]): readonly string[] => ids.filter((id) => id != null)
