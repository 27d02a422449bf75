// Also what says how much memory is allocated.
#include <malloc.h>
#include <lmdb.h>
