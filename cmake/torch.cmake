# The target carc_libtorch: what carc._torch compiles against and links. Not there if no torch is found.
#
# Only the headers and the two libraries with tensors on the CPU are used. The CMake files of torch would add much more
# (CUDA, its own pybind11, flags); they are asked only where it lies.

if(NOT CARC_BUILD_PYTHON)
  message(FATAL_ERROR "CARC_BUILD_TORCH: found CARC_BUILD_PYTHON=OFF, expected ON: carc._torch is a Python module")
endif()
if(NOT Torch_DIR)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c "import torch; print(torch.utils.cmake_prefix_path + '/Torch')"
    OUTPUT_VARIABLE Torch_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
cmake_path(SET torch_root NORMALIZE "${Torch_DIR}/../../..")
set(libraries "")
foreach(name IN ITEMS torch_cpu c10)
  find_library(CARC_${name} ${name} PATHS "${torch_root}/lib" NO_DEFAULT_PATH)
  list(APPEND libraries "${CARC_${name}}")
endforeach()
if(Torch_DIR AND EXISTS "${torch_root}/include/ATen/ATen.h" AND CARC_torch_cpu AND CARC_c10)
  message(STATUS "LibTorch: ${torch_root}")
  add_library(carc_libtorch INTERFACE)
  target_include_directories(carc_libtorch SYSTEM INTERFACE "${torch_root}/include")
  target_link_libraries(carc_libtorch INTERFACE ${libraries})
else()
  message(STATUS "LibTorch: not found by ${Python_EXECUTABLE}; carc._torch is not built")
endif()
