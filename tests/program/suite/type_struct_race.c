/* Two ranks put into the same member of the same record (5.1.2, 12.7). */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

struct particle {
  int kind;
  double mass;
};

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct particle* particles;
  MPI_Win window;
  MPI_Win_allocate(sizeof(struct particle), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &particles, &window);
  struct particle mine = {rank, rank};
  const int lengths[2] = {1, 1};
  const int members = 2;
  const MPI_Aint places[2] = {offsetof(struct particle, kind), offsetof(struct particle, mass)};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype record;
  MPI_Type_create_struct(members, lengths, places, types, &record);
  MPI_Type_commit(&record);
  particles->kind = 0;
  particles->mass = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&mine, 1, record, 1, 0, 1, record, window);                      /* first */
  if (rank == 2) MPI_Put(&mine.mass, 1, MPI_DOUBLE, 1, places[1], 1, MPI_DOUBLE, window); /* second */
  MPI_Win_fence(0, window);
  MPI_Type_free(&record);
  printf("%d %g\n", particles->kind, particles->mass);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
