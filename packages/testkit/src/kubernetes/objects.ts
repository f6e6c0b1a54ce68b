/** The parts of Kubernetes objects that the test bed reads and writes. Unknown fields pass through. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
}

export interface KubernetesObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
}

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

export interface Toleration {
  readonly key?: string
  readonly operator?: 'Exists' | 'Equal'
  readonly value?: string
  readonly effect?: string
}

export interface Node extends KubernetesObject {
  readonly spec?: {
    readonly podCIDR?: string
    readonly podCIDRs?: readonly string[]
    readonly unschedulable?: boolean
    readonly taints?: readonly Taint[]
  }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
  }
}

export interface Probe {
  readonly httpGet?: {
    readonly host?: string
    readonly path?: string
    readonly port: number | string
    readonly scheme?: 'HTTP' | 'HTTPS'
  }
  readonly tcpSocket?: { readonly port: number | string }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly successThreshold?: number
  readonly failureThreshold?: number
}

export interface EnvironmentVariable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } }
}

export interface VolumeMount {
  readonly name: string
  readonly mountPath: string
  readonly readOnly?: boolean
  readonly mountPropagation?: 'None' | 'HostToContainer' | 'Bidirectional'
}

export interface KeyToPath {
  readonly key: string
  readonly path: string
}

/** A part of a projected volume. */
export interface VolumeProjection {
  readonly serviceAccountToken?: {
    readonly audience?: string
    readonly expirationSeconds?: number
    readonly path: string
  }
  readonly configMap?: { readonly name: string; readonly items?: readonly KeyToPath[]; readonly optional?: boolean }
  readonly secret?: { readonly name: string; readonly items?: readonly KeyToPath[]; readonly optional?: boolean }
  readonly downwardAPI?: {
    readonly items?: readonly { readonly path: string; readonly fieldRef?: { readonly fieldPath: string } }[]
  }
}

export interface Volume {
  readonly name: string
  readonly configMap?: VolumeProjection['configMap']
  readonly secret?: { readonly secretName: string; readonly items?: readonly KeyToPath[]; readonly optional?: boolean }
  readonly emptyDir?: object
  readonly hostPath?: { readonly path: string }
  readonly persistentVolumeClaim?: { readonly claimName: string }
  readonly projected?: { readonly sources?: readonly VolumeProjection[] }
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly EnvironmentVariable[]
  readonly ports?: readonly {
    readonly name?: string
    readonly containerPort: number
    readonly protocol?: 'TCP' | 'UDP' | 'SCTP'
  }[]
  readonly readinessProbe?: Probe
  readonly volumeMounts?: readonly VolumeMount[]
  readonly securityContext?: {
    readonly privileged?: boolean
    readonly capabilities?: { readonly drop?: readonly string[] }
  }
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } }
}

export interface NodeSelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[]
  readonly matchFields?: readonly NodeSelectorRequirement[]
}

export interface Pod extends KubernetesObject {
  readonly spec: {
    readonly nodeName?: string
    readonly hostNetwork?: boolean
    readonly serviceAccountName?: string
    readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never'
    readonly terminationGracePeriodSeconds?: number
    /** User of every container, and group of the volumes. */
    readonly securityContext?: { readonly runAsUser?: number; readonly runAsGroup?: number; readonly fsGroup?: number }
    readonly containers: readonly Container[]
    readonly volumes?: readonly Volume[]
    readonly readinessGates?: readonly { readonly conditionType: string }[]
    readonly nodeSelector?: Readonly<Record<string, string>>
    readonly tolerations?: readonly Toleration[]
    readonly schedulerName?: string
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms: readonly NodeSelectorTerm[]
        }
      }
    }
  }
  readonly status?: {
    readonly phase?: string
    readonly podIP?: string
    readonly podIPs?: readonly { readonly ip: string }[]
    readonly hostIP?: string
    readonly conditions?: readonly Condition[]
  }
}

export interface EndpointSlice extends KubernetesObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN'
  readonly endpoints:
    | readonly {
        readonly addresses: readonly string[]
        readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean }
        readonly nodeName?: string
        readonly targetRef?: { readonly name: string }
      }[]
    | null
}

export interface Service extends KubernetesObject {
  readonly spec: {
    readonly type?: string
    readonly clusterIP?: string
    readonly clusterIPs?: readonly string[]
    readonly selector?: Readonly<Record<string, string>>
    readonly ipFamilyPolicy?: string
    readonly externalTrafficPolicy?: string
    readonly healthCheckNodePort?: number
    readonly ports: readonly {
      readonly name?: string
      readonly port: number
      readonly protocol?: string
      readonly targetPort?: number | string
      readonly nodePort?: number
    }[]
  }
  readonly status?: object
}

export const conditionOf = (
  object: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
) => object.status?.conditions?.find((condition) => condition.type === type)
