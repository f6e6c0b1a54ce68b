import {
  AGENT,
  AGENT_METRICS_PORT,
  AGENT_STATE_DIRECTORY,
  API_PORT,
  AUTHORITY_FILE,
  CONFIGURATION,
  CONNECTOR,
  CONTROL_PLANE,
  CONTROL_PLANE_STATUS_PORT,
  LINK_PORT,
  labels,
  SETTINGS_DIRECTORY,
  STATE_DIRECTORY,
  STATUS_PORT,
} from './names.ts'
import {
  authorityVolume,
  CACHE,
  CACHE_VARIABLE,
  CLOSED,
  inNamespace,
  type KubernetesObject,
  podTemplate,
  probe,
  scratchVolume,
  settingsVolume,
  statusTokenVolume,
  tokenVolume,
  UNPRIVILEGED,
} from './pod.ts'

const selectorOf = (program: string) => ({ selector: { matchLabels: labels(program) } })
const configOf = (program: string): string[] => ['--config', `${SETTINGS_DIRECTORY}/${program}.yaml`]

const state: KubernetesObject = {
  ...inNamespace('v1', 'PersistentVolumeClaim', CONTROL_PLANE),
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

const service: KubernetesObject = {
  ...inNamespace('v1', 'Service', CONTROL_PLANE),
  spec: {
    selector: labels(CONTROL_PLANE),
    ipFamilyPolicy: 'PreferDualStack',
    ports: [
      { name: 'api', port: API_PORT, targetPort: 'api' },
      { name: 'agent-link', port: LINK_PORT, targetPort: 'agent-link' },
    ],
  },
}

/** One pod, and never two at once: the store is a file that one process may open. */
const controlPlane: KubernetesObject = {
  ...inNamespace('apps/v1', 'Deployment', CONTROL_PLANE),
  spec: {
    replicas: 1,
    strategy: { type: 'Recreate' },
    ...selectorOf(CONTROL_PLANE),
    template: podTemplate({
      program: CONTROL_PLANE,
      args: [CONTROL_PLANE, ...configOf(CONTROL_PLANE)],
      env: [CACHE_VARIABLE],
      ports: [
        { name: 'api', containerPort: API_PORT },
        { name: 'agent-link', containerPort: LINK_PORT },
        { name: 'status', containerPort: CONTROL_PLANE_STATUS_PORT },
      ],
      volumes: [
        settingsVolume(CONTROL_PLANE),
        statusTokenVolume,
        {
          name: 'state',
          mountPath: STATE_DIRECTORY,
          source: { persistentVolumeClaim: { claimName: CONTROL_PLANE } },
        },
        CACHE,
      ],
      container: {
        // Not /readyz: it waits for nodes, which reach it only after this probe passes.
        readinessProbe: { ...probe('/healthz/leader', 'api', 'HTTPS'), periodSeconds: 5 },
        livenessProbe: {
          ...probe('/healthz', 'api', 'HTTPS'),
          periodSeconds: 10,
          timeoutSeconds: 5,
          failureThreshold: 6,
        },
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } },
        securityContext: CLOSED,
      },
      pod: {
        priorityClassName: 'system-cluster-critical',
        terminationGracePeriodSeconds: 30,
        securityContext: UNPRIVILEGED,
      },
    }),
  },
}

/** The Deployment of a program that is a client of the API server and of the control plane. */
function between(program: typeof CONNECTOR | typeof CONFIGURATION, replicas: 1 | 2): KubernetesObject {
  return {
    ...inNamespace('apps/v1', 'Deployment', program),
    spec: {
      replicas,
      // A program with one replica must never run twice at once. Of two replicas, a Lease elects the active one.
      ...(replicas === 1 && { strategy: { type: 'Recreate' } }),
      ...selectorOf(program),
      template: podTemplate({
        program,
        args: ['connector', ...configOf(program)],
        env: [{ name: 'NODE_EXTRA_CA_CERTS', value: AUTHORITY_FILE }, CACHE_VARIABLE],
        ports: [{ name: 'status', containerPort: STATUS_PORT }],
        volumes: [settingsVolume(program), statusTokenVolume, authorityVolume, tokenVolume, CACHE],
        container: {
          readinessProbe: { ...probe('/readyz', 'status'), periodSeconds: 5 },
          livenessProbe: { ...probe('/healthz', 'status'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
          resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '512Mi' } },
          securityContext: CLOSED,
        },
        pod: {
          priorityClassName: 'system-cluster-critical',
          terminationGracePeriodSeconds: 10,
          securityContext: UNPRIVILEGED,
          // Spread over different nodes, if possible.
          ...(replicas > 1 && {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'kubernetes.io/hostname',
                whenUnsatisfiable: 'ScheduleAnyway',
                labelSelector: { matchLabels: labels(program) },
              },
            ],
          }),
        },
      }),
    },
  }
}

/**
 * The agent, on every node and in the node's network. It is privileged, because the names of network namespaces are
 * mounts that the node must keep when the container stops, and Kubernetes allows only privileged containers to make
 * such mounts. The image's entry point drops all capabilities but the needed ones.
 */
const agent: KubernetesObject = {
  ...inNamespace('apps/v1', 'DaemonSet', AGENT),
  spec: {
    ...selectorOf(AGENT),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    template: podTemplate({
      program: AGENT,
      args: [AGENT, ...configOf(AGENT)],
      env: [
        { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'SPOUT_AGENT_FABRIC_ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
        CACHE_VARIABLE,
      ],
      volumes: [
        settingsVolume(AGENT),
        authorityVolume,
        tokenVolume,
        {
          name: 'state',
          mountPath: AGENT_STATE_DIRECTORY,
          source: { hostPath: { path: AGENT_STATE_DIRECTORY, type: 'DirectoryOrCreate' } },
        },
        {
          name: 'netns',
          mountPath: '/run/netns',
          mountPropagation: 'Bidirectional',
          source: { hostPath: { path: '/run/netns', type: 'DirectoryOrCreate' } },
        },
        // Runtime files of daemons, which stop with the container: the files need not outlive the pod.
        scratchVolume('run', '/run/spout', 'Memory'),
        CACHE,
      ],
      container: {
        // A rolling update goes on to the next node only when this node could take over its addresses.
        readinessProbe: { ...probe('/readyz', AGENT_METRICS_PORT, undefined, '127.0.0.1'), periodSeconds: 5 },
        resources: { requests: { cpu: '100m', memory: '96Mi' } },
        // The image's own user is another one: no other program needs root.
        securityContext: { privileged: true, runAsUser: 0 },
      },
      pod: {
        hostNetwork: true,
        dnsPolicy: 'ClusterFirstWithHostNet',
        priorityClassName: 'system-node-critical',
        // The agent makes no requests to the API server.
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 30,
      },
    }),
  },
}

export const WORKLOADS: readonly KubernetesObject[] = [
  state,
  service,
  controlPlane,
  between(CONFIGURATION, 1),
  between(CONNECTOR, 2),
  agent,
]
