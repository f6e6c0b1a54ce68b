/*
 * Finds the member that serves each flow: sends a datagram from each of COUNT source ports from FIRST on, and prints
 * the answers.
 *
 * who-answers ADDRESS PORT FIRST COUNT. For each line on stdin it sends once from each port and prints one line: the
 * answers in the order of ports, separated by spaces; `-` where three datagrams got none.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define TRIES 3

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET }, own = { .sin_family = AF_INET };
	struct timeval limit = { .tv_usec = 200000 };
	char line[16];

	if (argc != 5 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	while (fgets(line, sizeof(line), stdin)) {
		for (int n = 0; n < atoi(argv[4]); n++) {
			int fd = socket(AF_INET, SOCK_DGRAM, 0);
			char answer[64];
			ssize_t size = -1;

			own.sin_port = htons(atoi(argv[3]) + n);
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
			if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0)
				return 1;
			for (int tries = 0; size < 0 && tries < TRIES; tries++) {
				sendto(fd, "who", 3, 0, (struct sockaddr *)&to, sizeof(to));
				size = recv(fd, answer, sizeof(answer), 0);
			}
			if (size > 0)
				fwrite(answer, 1, size, stdout);
			else
				putchar('-');
			putchar(' ');
			close(fd);
		}
		putchar('\n');
		fflush(stdout);
	}
	return 0;
}
