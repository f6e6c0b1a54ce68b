import type { Ingress, IngressClass, IngressSpec, Service } from '@spout/kube'
import { CONTROLLER_NAME } from '../names.ts'

/** A UID made from a small number. */
export const uid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** The `age`-th Ingress: a smaller number is older. */
export const ingress = (
  name: string,
  age: number,
  spec: IngressSpec,
  annotations: Readonly<Record<string, string>> = {},
): Ingress => ({
  metadata: {
    ...{ name, namespace: 'shop', uid: uid(age), annotations },
    creationTimestamp: `2026-01-01T00:00:${String(age).padStart(2, '0')}Z`,
  },
  spec,
})

export const backend = (name: string, port: number | string = 80) => ({
  service: { name, port: typeof port === 'number' ? { number: port } : { name: port } },
})

/** `host path type -> service`, such as `a.example /shop Prefix web`. A host of `-` is all hosts. */
export const rule = (text: string) => {
  const [host = '', path = '', pathType = '', service = ''] = text.split(' ')
  return {
    ...(host === '-' ? {} : { host }),
    http: { paths: [{ path, pathType: pathType as 'Exact' | 'Prefix', backend: backend(service) }] },
  }
}

export const service = (name: string, spec: Service['spec'] = {}): Service => ({
  metadata: { name, namespace: 'shop' },
  spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
})

export const ingressClass = (name: string, more: Partial<IngressClass> = {}): IngressClass => ({
  metadata: { name },
  spec: { controller: CONTROLLER_NAME },
  ...more,
})
