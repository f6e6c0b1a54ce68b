import type { ServiceLab } from './service-lab.ts'

/**
 * Restarts Kubernetes' own controllers. After an outage of the API server they wait for half a minute before they read
 * again, and after a restore they remember another history. Started anew they read at once.
 */
export async function restartControllers({ cluster: { controlPlane } }: Pick<ServiceLab, 'cluster'>): Promise<void> {
  await controlPlane.stopControllerManager('SIGKILL')
  await controlPlane.startControllerManager()
}
