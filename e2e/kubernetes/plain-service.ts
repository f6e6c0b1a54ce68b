/** Addresses that Services may have. */
export const POOL = `apiVersion: spout.dev/v1alpha1
kind: AddressPool
metadata: {name: public}
spec:
  subnet: 198.51.100.0/24
  addresses: [{first: 198.51.100.16, last: 198.51.100.250}]
`

/** A Service of type LoadBalancer over the pods of workload `web`, as a manifest. */
export const webService = (name: string): string =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' } },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] },
  })
