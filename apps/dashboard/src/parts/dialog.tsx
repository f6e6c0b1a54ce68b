import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import styles from './dialog.module.css'

interface Props {
  readonly title: ReactNode
  readonly isOpen: boolean
  /** Absent: it cannot be closed, only answered. */
  readonly onClose?: () => void
  /** A question that must not be overlooked. */
  readonly isAlert?: boolean
  readonly isWide?: boolean
  readonly children: ReactNode
}

/** A dialog above the page. The keyboard stays in it, Escape closes it, and the focus goes back to where it was. */
export const Dialog = ({ title, isOpen, onClose, isAlert = false, isWide = false, children }: Props) => (
  <ModalOverlay
    className={styles.veil}
    isOpen={isOpen}
    isKeyboardDismissDisabled={onClose === undefined}
    onOpenChange={(open) => open || onClose?.()}
  >
    <Modal className={`${styles.modal} ${isWide ? styles.wide : ''}`}>
      <AriaDialog className={styles.dialog} role={isAlert ? 'alertdialog' : 'dialog'}>
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)

/** The buttons of a dialog: what is done last. */
export const DialogActions = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.actions}>{children}</div>
)
