/*
 * Runs a program that may make only the system calls of a list: `syscall-filter FILE PROGRAM ARGUMENT…`. FILE has their
 * numbers, one a line. Any other call fails with EPERM, as under systemd's SystemCallFilter= with
 * SystemCallErrorNumber=EPERM; one of another architecture ends the process. Its children inherit the filter.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter is not tested on this architecture"
#endif

static struct sock_filter code[BPF_MAXINSNS];
static unsigned short length;

static void add(struct sock_filter instruction) {
    if (length == BPF_MAXINSNS) {
        fputs("syscall-filter: too many calls\n", stderr);
        exit(125);
    }
    code[length++] = instruction;
}

static void allow_if(unsigned number) {
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: syscall-filter FILE PROGRAM ARGUMENT...\n", stderr);
        return 125;
    }
    FILE *list = fopen(argv[1], "r");
    if (list == NULL) {
        perror(argv[1]);
        return 125;
    }
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    unsigned number;
    while (fscanf(list, "%u", &number) == 1) allow_if(number);
    fclose(list);
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));

    struct sock_fprog program = {.len = length, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("syscall-filter: seccomp");
        return 125;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
