import path from 'node:path'
import { NAMESPACE } from '../namespace.ts'
import {
  ACCOUNTS,
  AUDIENCE,
  AUTHORITY,
  AUTHORITY_FILE,
  IMAGE,
  labels,
  SETTINGS_DIRECTORY,
  STATUS_TOKEN,
  STATUS_TOKEN_FILE,
  TOKEN_FILE,
} from './names.ts'

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec?: object
  readonly data?: Readonly<Record<string, string>>
}

export interface Volume {
  readonly name: string
  readonly mountPath: string
  readonly readOnly?: true
  readonly mountPropagation?: 'Bidirectional'
  /** The volume's source, next to its name. */
  readonly source: object
}

export interface PodDraft {
  readonly program: keyof typeof ACCOUNTS
  readonly args: readonly string[]
  readonly ports?: readonly object[]
  readonly env?: readonly object[]
  readonly volumes?: readonly Volume[]
  /** Fields of the container: probes, resources, securityContext. */
  readonly container: object
  /** Fields of the pod. */
  readonly pod: object
}

/** The volume with the settings of a program. */
export const settingsVolume = (program: string): Volume => ({
  name: 'settings',
  mountPath: SETTINGS_DIRECTORY,
  readOnly: true,
  source: { configMap: { name: program } },
})

/** The control plane's certificate authority. Because the key is named, the kubelet starts no pod before it exists. */
export const authorityVolume: Volume = {
  name: 'authority',
  mountPath: path.dirname(AUTHORITY_FILE),
  readOnly: true,
  source: { configMap: { name: AUTHORITY, items: [{ key: 'ca.crt', path: path.basename(AUTHORITY_FILE) }] } },
}

/** A service account token that only the control plane accepts. It is bound to the pod, and through it to the node. */
export const tokenVolume: Volume = {
  name: 'token',
  mountPath: path.dirname(TOKEN_FILE),
  readOnly: true,
  source: {
    projected: {
      sources: [
        { serviceAccountToken: { audience: AUDIENCE, expirationSeconds: 3600, path: path.basename(TOKEN_FILE) } },
      ],
    },
  },
}

/** The token for metrics. The kubelet adds the file even if the Secret is created after the pod. */
export const statusTokenVolume: Volume = {
  name: STATUS_TOKEN,
  mountPath: path.dirname(STATUS_TOKEN_FILE),
  readOnly: true,
  source: {
    secret: {
      secretName: STATUS_TOKEN,
      optional: true,
      items: [{ key: 'token', path: path.basename(STATUS_TOKEN_FILE) }],
    },
  },
}

export const scratchVolume = (name: string, mountPath: string, medium?: 'Memory'): Volume => ({
  name,
  mountPath,
  source: { emptyDir: medium === undefined ? {} : { medium } },
})

/** A cache of compiled code, which halves the time that the container's next start takes. */
export const CACHE = scratchVolume('cache', '/var/cache/spout')
export const CACHE_VARIABLE = { name: 'NODE_COMPILE_CACHE', value: CACHE.mountPath }

/** The securityContext of a container that needs only its own files and sockets. */
export const CLOSED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const
export const UNPRIVILEGED = {
  runAsNonRoot: true,
  runAsUser: 10_001,
  runAsGroup: 10_001,
  fsGroup: 10_001,
  seccompProfile: { type: 'RuntimeDefault' },
} as const

/** Allows every Linux node, control-plane nodes included: a cluster may have no others. */
export const ON_EVERY_LINUX = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
} as const

export function podTemplate({ program, args, ports = [], env = [], volumes = [], container, pod }: PodDraft): object {
  return {
    metadata: { labels: labels(program) },
    spec: {
      serviceAccountName: ACCOUNTS[program],
      // Otherwise environment variables named after Services would be read as settings.
      enableServiceLinks: false,
      ...ON_EVERY_LINUX,
      ...pod,
      containers: [
        {
          name: program,
          image: IMAGE,
          args,
          ...(env.length > 0 && { env }),
          ...(ports.length > 0 && { ports }),
          ...container,
          volumeMounts: volumes.map(({ source: _, ...mount }) => mount),
        },
      ],
      volumes: volumes.map(({ name, source }) => ({ name, ...source })),
    },
  }
}

export const inNamespace = (apiVersion: string, kind: string, name: string): KubernetesObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: NAMESPACE, labels: labels(name) },
})

export const probe = (path: string, port: string | number, scheme?: 'HTTPS', host?: string) => ({
  httpGet: { ...(host && { host }), path, port, ...(scheme && { scheme }) },
})
